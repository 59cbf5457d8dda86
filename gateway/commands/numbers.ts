/** The command `numbers`: shows which workspaces claim a phone number, and settles whose it is (docs/phone.md). */
import { commandLine } from '../../contracts/command-line.js';
import { phoneAddress } from '../../contracts/phone/phone.js';
import { type ClaimRow, listClaims, removeClaim, settleClaim } from '../../storage/phone/claims.js';
import { type DatabaseCommand, type Program, CommandRefusal, table } from './database-command.js';

const USAGE = `Usage: ${commandLine('numbers', '<command>')}
  list [number] [--disputed]  shows who has registered a phone number, or all; --disputed: those of several workspaces.
                              Of one number the first line is whose it is
  give <id>                   gives the number to the workspace that has registered it under this id
  remove <id>                 deletes what a workspace has registered; running calls go on
Running gateways follow at once, a LiveKit server within half a minute.
Uses DATABASE_URL, else the embedded database in DATA_DIR.`;

const shownTime = (at: Date): string => `${at.toISOString().slice(0, 16)}Z`;

/** Heading → cell. */
const COLUMNS: Readonly<Record<string, (row: ClaimRow) => string>> = {
  ID: ({ id }) => id,
  PROVIDER: ({ provider }) => provider,
  NUMBER: ({ address }) => address,
  CLAIMS: ({ claims }) => String(claims),
  PROVEN: ({ provenAt }) => (provenAt ? shownTime(provenAt) : 'no'),
  ENABLED: ({ enabled }) => (enabled ? 'yes' : 'no'),
  CREATED: ({ createdAt }) => shownTime(createdAt),
  WORKSPACE: ({ workspaceName }) => workspaceName,
};

const list: DatabaseCommand = {
  options: { disputed: 'boolean' },
  fits: (words) => words.length <= 1,
  async run({ sql, word, options, io }) {
    const address = word === '' ? null : phoneAddress(word);
    if (address === undefined)
      throw new CommandRefusal(`${word} is no phone number in E.164 form, and no SIP address`);
    const rows = await listClaims(sql, address, options['disputed'] === true);
    if (rows.length === 0) return io.err('There are no such phone numbers.');
    const cells = rows.map((row) => Object.values(COLUMNS).map((cell) => cell(row)));
    for (const line of table([Object.keys(COLUMNS), ...cells])) io.out(line);
  },
};

const isOneId = ([id = '', more]: readonly string[]): boolean => more === undefined && /^\w+$/.test(id);

const give: DatabaseCommand = {
  fits: isOneId,
  async run({ sql, word, io }) {
    const { address, provider, workspaceName } = await settleClaim(sql, word);
    io.out(`${address} at ${provider} is workspace ${workspaceName}'s.`);
  },
};

const remove: DatabaseCommand = {
  fits: isOneId,
  async run({ sql, word, io }) {
    io.out(`Removed ${word} (${await removeClaim(sql, word)}).`);
  },
};

export const numbers: Program = { usage: USAGE, commands: { list, give, remove } };
