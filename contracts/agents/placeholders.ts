/**
 * Dynamic variables in the texts of a prompt: `{{name}}` becomes its value, once; placeholders within a value are not
 * replaced, and one without a value stays as it is (docs/contract/platform.md 6.6).
 */
import { LIMITS } from '../limits.js';

export type Variable = string | number | boolean;

/** The name is looked up, so the pattern only has to bound it. */
const PLACEHOLDER = /\{\{ ?((?:system\.)?[A-Za-z][A-Za-z0-9_]{0,255}) ?\}\}/g;

/** The names of the placeholders of a text that a session has to fill, each once. */
export const namesIn = (template: string): readonly string[] => [
  ...new Set(
    [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name).filter((name) => !name.includes('.')),
  ),
];

/** Undefined if the rendered text is longer than LIMITS.session.renderedLength. */
export function render(template: string, variables: ReadonlyMap<string, Variable>): string | undefined {
  let done = '';
  let at = 0;
  for (const { 0: whole, 1: name = '', index } of template.matchAll(PLACEHOLDER)) {
    const value = variables.get(name);
    if (value === undefined) continue;
    done += template.slice(at, index) + String(value);
    at = index + whole.length;
    if (done.length > LIMITS.session.renderedLength) return undefined;
  }
  done += template.slice(at);
  return done.length > LIMITS.session.renderedLength ? undefined : done;
}
