/**
 * Errors of the platform on the wire (docs/contract/platform.md 6.11; docs/contract/decisions.md "Platform", fine point
 * 18): `{status, message}`, and for 422 also all problems. Some messages are the platform's own.
 */
import { type ErrorCode, ServiceError } from '../../../contracts/errors.js';
import { foreignMembers } from '../../../contracts/schemas/write-only.js';
import type { Problem } from '../../../contracts/schemas/check.js';
import { challenge } from '../../server/native-error.js';
import type { Reply } from '../../server/port.js';
import { json } from '../../server/replies.js';

const MESSAGES: Readonly<Partial<Record<ErrorCode, string>>> = {
  missing_key: 'Missing Authorization header',
  invalid_key: 'Invalid token',
  quota_exceeded: 'Out of API credit',
};

/** Longest text shown in an error: a client's field names may be as long as its body. */
const SHOWN = 200;

const shortened = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

const shownProblem = ({ type, loc, message }: Problem) => ({
  type,
  loc: loc.map((step) => (typeof step === 'string' ? shortened(step) : step)),
  msg: shortened(message),
});

function bodyOf(error: ServiceError): object {
  const { status, problems, reason } = error;
  const message = shortened(MESSAGES[error.code] ?? error.message);
  const shown = { status, ...(reason !== undefined && { reason }), message };
  if (status !== 422) return shown;
  const told = problems.length > 0 ? problems : [{ type: 'value', loc: [], message: error.message }];
  return { ...shown, errors: told.map(shownProblem) };
}

export const platformError = (error: ServiceError): Reply =>
  json(error.status, bodyOf(error), challenge(error.status));

/** 422 with all problems. */
export const invalid = (problems: readonly [Problem, ...Problem[]]): ServiceError =>
  new ServiceError('validation_failed', { message: problems[0].message, problems });

/** A problem beyond the schema. */
export const problem = (loc: Problem['loc'], message: string, type = 'value'): Problem => ({
  type,
  loc,
  message,
});

/** Problems with read-only members (as reads show them) whose values belong to another entity than the one changed. */
export const foreignProblems = (sent: object, own: Readonly<Record<string, string>>): readonly Problem[] =>
  foreignMembers(sent, own).map((name) => problem([name], `${name} cannot be changed`, 'read_only'));

/** A problem for each item of a list with the same name as an earlier one. */
export function repeatedNames(
  items: readonly { readonly name: string }[],
  loc: Problem['loc'],
): readonly Problem[] {
  const names = items.map(({ name }) => name);
  return names.flatMap((name, index) => {
    const at = [...loc, index, 'name'];
    return names.indexOf(name) === index ? [] : [problem(at, `${at.join('.')} must be unique`, 'unique')];
  });
}

/** Errors: `validation_failed` if there is any problem. */
export function refuse(problems: readonly Problem[]): void {
  const [first, ...rest] = problems;
  if (first) throw invalid([first, ...rest]);
}

export const notFound = (what: string): ServiceError =>
  new ServiceError('not_found', { message: `${what} not found` });

/** Rethrows an error, with its problems moved under a member of the body. Errors: always. */
export function rethrowUnder(member: string, error: unknown): never {
  if (!(error instanceof ServiceError) || error.code !== 'validation_failed') throw error;
  const problems = error.problems.map(({ loc, ...rest }) => ({ ...rest, loc: [member, ...loc] }));
  throw new ServiceError('validation_failed', { message: error.message, problems });
}
