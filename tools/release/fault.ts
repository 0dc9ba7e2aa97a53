/** Something that stands in the way of a release. */
export interface Fault {
  what: string;
  /** What to do about it. */
  todo: string;
}
