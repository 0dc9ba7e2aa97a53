/** @returns the fingerprint that a caller sends with an attempt */
export function fingerprint(attempt: number, content: 'same' | 'other' | 'unsaid'): { fingerprint?: string } {
  if (content === 'unsaid') return {};
  return { fingerprint: content === 'same' ? `f-${attempt}` : 'f-other' };
}
