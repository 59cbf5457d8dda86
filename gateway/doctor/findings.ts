/** What `doctor` finds, a row for each thing that it looks at, and how a person or a program reads it. */
import { errorText } from '../../contracts/errors.js';

export interface Finding {
  /** What was looked at, in one or two words. */
  readonly check: string;
  readonly well: boolean;
  /** How it is, or what is wrong: never a secret, never a key. */
  readonly says: string;
  /** The setting that mends it, where one does. */
  readonly setting?: string | undefined;
}

/** Something to look at. */
export interface Look {
  readonly check: string;
  /** The setting that mends it, unless the error says another (`Wrong`). */
  readonly setting?: string;
  /** Resolves with how it is. Errors: what is wrong, in words for whoever runs the gateway. */
  look(): Promise<string> | string;
}

/** Something is wrong, and another setting than the row's mends it. */
export class Wrong extends Error {
  constructor(
    message: string,
    readonly setting?: string,
  ) {
    super(message);
  }
}

/** Never rejects. */
export async function findingOf({ check, setting, look }: Look): Promise<Finding> {
  try {
    return { check, well: true, says: await look() };
  } catch (error) {
    const mends = error instanceof Wrong ? (error.setting ?? setting) : setting;
    return { check, well: false, says: errorText(error), setting: mends };
  }
}

/** What is said, with the setting behind it unless it names that itself. */
const withSetting = ({ well, says, setting }: Finding): string =>
  well || setting === undefined || says.includes(setting) ? says : `${says}: check ${setting}`;

/** A line each, what is wrong with a mark that is found at a glance, and one line that counts. */
export function textOf(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const wrong = findings.filter(({ well }) => !well).length;
  return [
    ...findings.map((each) => {
      const mark = each.well ? 'ok   ' : 'WRONG';
      return `${mark}  ${each.check.padEnd(width)}  ${withSetting(each)}`;
    }),
    '',
    wrong === 0 ? 'All well.' : `${wrong} of ${findings.length} are wrong.`,
  ].join('\n');
}

/** `{ "ok": …, "checks": [{ "check", "ok", "says", "setting" }] }`; `setting` is null if none mends it. */
export const jsonOf = (findings: readonly Finding[]): string =>
  JSON.stringify(
    {
      ok: findings.every(({ well }) => well),
      checks: findings.map(({ check, well, says, setting }) => ({
        check,
        ok: well,
        says,
        setting: setting ?? null,
      })),
    },
    null,
    2,
  );
