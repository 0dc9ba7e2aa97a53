/**
 * Writes and reads moments faster, in the process that imports it: a life writes and reads the same few moments again and
 * again, and a fifth of its time would go into that. Nothing else about dates changes.
 */
const KEPT = 4_096;
const writtenMs = new Float64Array(KEPT).fill(Number.NaN);
const written = new Array<string>(KEPT).fill('');
const read = new Map<string, number>();
const parse = Date.parse;
const write = Date.prototype.toISOString;

export function keepMoments(): void {
  Date.parse = (at) => {
    const kept = read.get(at);
    if (kept !== undefined) return kept;
    const ms = parse(at);
    if (read.size >= KEPT) read.clear();
    read.set(at, ms);
    return ms;
  };
  Date.prototype.toISOString = function toISOString() {
    const ms = this.getTime();
    const place = ms % KEPT;
    const kept = written[place];
    if (kept !== undefined && writtenMs[place] === ms) return kept;
    const at = write.call(this);
    if (kept !== undefined) {
      writtenMs[place] = ms;
      written[place] = at;
    }
    return at;
  };
}
