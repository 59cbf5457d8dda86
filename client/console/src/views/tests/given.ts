/** The parts of a scenario as sent to the gateway: empty values within a part are left out, since they would count as wrong values. */
const isSet = (value: unknown): boolean => value !== null && value !== undefined && value !== '';

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(isSet).map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  return mapped(Object.fromEntries(Object.entries(value).filter(([, each]) => isSet(each))), withoutEmpty);
}

const mapped = (values: object, each: (value: unknown) => unknown): object =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, each(value)]));

/** Cleans each part; a part that is empty as a whole stays, so that the gateway empties it as well. */
export const withoutEmptyParts = (parts: object): object => mapped(parts, withoutEmpty);
