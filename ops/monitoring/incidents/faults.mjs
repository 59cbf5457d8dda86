/** Names of faults of an engine, and of the same faults of the second one. */
export const second = (names) => names.flatMap((name) => [name, `second ${name}`]);
