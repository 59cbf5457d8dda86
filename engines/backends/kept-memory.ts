/**
 * The memory of a WebAssembly program as it was at one moment, to begin every run with: no text leaks into the next, and the
 * same text gives the same samples.
 */

/** Memory that was never written; a program's memory is a whole number of such pages. */
const UNUSED_PAGE = Buffer.alloc(65_536);

/** The bytes of memory up to its last page that is in use. Page by page, since to look at each byte takes 0.2 s. */
function usedBytes(memory: Uint8Array): number {
  let end = memory.length;
  while (end > 0 && UNUSED_PAGE.equals(memory.subarray(end - UNUSED_PAGE.length, end)))
    end -= UNUSED_PAGE.length;
  return end;
}

/** Saves the program's memory as it is now; the result restores it. */
export function keepMemory(module: { readonly HEAPU8: Uint8Array }): () => void {
  const memory = module.HEAPU8.slice(0, usedBytes(module.HEAPU8));
  return () => module.HEAPU8.set(memory);
}
