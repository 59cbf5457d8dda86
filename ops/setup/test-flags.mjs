/**
 * Flags of V8 for test files, which run for a second or less, so that most code that Node 20 optimises is never run again. This
 * budget before a function is optimised is three times the default; later versions count in another way, and need it less.
 */
export const TEST_FLAGS = process.versions.node.startsWith('20.') ? ['--interrupt-budget=400000'] : [];
