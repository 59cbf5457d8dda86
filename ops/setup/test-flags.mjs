/**
 * Flags of V8 for test files, which run for a second or less, so that most code that Node 20 optimises is never run again. The
 * budgets before a function is optimised are three and eleven times the default (WebAssembly's: the parser of HTTP in `fetch`,
 * whose optimising takes as long as 40 requests); later versions count in another way, and need it less.
 */
export const TEST_FLAGS = process.versions.node.startsWith('20.')
  ? ['--interrupt-budget=400000', '--wasm-tiering-budget=20000000']
  : [];
