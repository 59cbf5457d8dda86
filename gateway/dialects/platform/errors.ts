/**
 * How the platform says that something went wrong (native-and-platform.md 6.11; decisions.md "Platform", fine point
 * 18): `{status, message}`, and for 422 all problems beside the first. Some messages are its own.
 */
import { type ErrorCode, ServiceError } from '../../../contracts/errors.js';
import type { Problem } from '../../../contracts/schemas/check.js';
import type { Reply } from '../../server/port.js';

const MESSAGES: Readonly<Partial<Record<ErrorCode, string>>> = {
  missing_key: 'Missing Authorization header',
  invalid_key: 'Invalid token',
  quota_exceeded: 'Out of API credit',
};

/** A client's own field names may be as long as its body. */
const SHOWN = 200;

const shortened = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

const shownProblem = ({ type, loc, message }: Problem) => ({
  type,
  loc: loc.map((step) => (typeof step === 'string' ? shortened(step) : step)),
  msg: shortened(message),
});

function bodyOf(error: ServiceError): object {
  const { status, problems } = error;
  const message = shortened(MESSAGES[error.code] ?? error.message);
  if (status !== 422) return { status, message };
  const told = problems.length > 0 ? problems : [{ type: 'value', loc: [], message: error.message }];
  return { status, message, errors: told.map(shownProblem) };
}

export const platformError = (error: ServiceError): Reply => ({
  status: error.status,
  headers: {
    'content-type': 'application/json',
    ...(error.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  },
  body: JSON.stringify(bodyOf(error)),
});

/** 422 with everything that is wrong. */
export const invalid = (problems: readonly [Problem, ...Problem[]]): ServiceError =>
  new ServiceError('validation_failed', { message: problems[0].message, problems });

/** A problem that no schema knows. */
export const problem = (loc: Problem['loc'], message: string, type = 'value'): Problem => ({
  type,
  loc,
  message,
});

/** Errors: `validation_failed` where there is any problem. */
export function refuse(problems: readonly Problem[]): void {
  const [first, ...rest] = problems;
  if (first) throw invalid([first, ...rest]);
}

export const notFound = (what: string): ServiceError =>
  new ServiceError('not_found', { message: `${what} not found` });

/** Tells problems from within a member of the body. Errors: always. */
export function within(member: string, error: unknown): never {
  if (!(error instanceof ServiceError) || error.code !== 'validation_failed') throw error;
  const problems = error.problems.map(({ loc, ...rest }) => ({ ...rest, loc: [member, ...loc] }));
  throw new ServiceError('validation_failed', { message: error.message, problems });
}
