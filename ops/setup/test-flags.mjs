/**
 * Flags of V8 for test files. One runs for a second or less: most of what Node 20 optimises is never run again. This is three
 * times what makes a function worth it; later versions count in another way, and need it less.
 */
export const TEST_FLAGS = process.versions.node.startsWith('20.') ? ['--interrupt-budget=400000'] : [];
