/** What of a scenario the gateway is told: what is empty within a part is left out, since it would be a value, and a wrong one. */
const isSet = (value: unknown): boolean => value !== null && value !== undefined && value !== '';

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(isSet).map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  return mapped(Object.fromEntries(Object.entries(value).filter(([, each]) => isSet(each))), withoutEmpty);
}

const mapped = (values: object, each: (value: unknown) => unknown): object =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, each(value)]));

/** Each part as it is given; one that is empty as a whole stays, to empty it there as well. */
export const withoutEmptyParts = (parts: object): object => mapped(parts, withoutEmpty);
