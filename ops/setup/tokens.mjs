/**
 * The token table of Moonshine, out of `llama-tokenizer-js`'s vocabulary, which it shares: one line a piece,
 * base64 of the piece's bytes, a blank, its index. `▁` stands for a blank, `<0xNN>` for one byte.
 */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { modelsDir, packageFolder } from './paths.mjs';
import { hasStamp, keyOf, writeAtomically, writeStamp } from './stamps.mjs';

/** Undefined before packages are laid out. */
const vocabulary = () => packageFolder('llama-tokenizer-js');
const tableFile = (folder) => path.join(folder, 'moonshine', 'tokens.txt');
const stampFile = (folder) => path.join(folder, 'moonshine', '.tokens');

/** The lock pins the vocabulary; this file is the rest of what the table is made from. */
const tokensKey = () =>
  keyOf(fs.readFileSync(path.join(vocabulary(), 'package.json')), fs.readFileSync(new URL(import.meta.url)));

export const tokensReady = (folder = modelsDir()) =>
  vocabulary() !== undefined && hasStamp(stampFile(folder), tokensKey()) && fs.existsSync(tableFile(folder));

function bytesOf(piece) {
  const byte = /^<0x([0-9A-F]{2})>$/.exec(piece);
  return byte ? Buffer.from(byte[1], 'hex') : Buffer.from(piece.replaceAll('▁', ' '), 'utf8');
}

/** The whole table, from the pieces in order of their index. */
export const tokenTable = (pieces) =>
  pieces.map((piece, index) => `${bytesOf(piece).toString('base64')} ${index}\n`).join('');

export async function writeTokens({ folder = modelsDir() } = {}) {
  const { default: tokenizer } = await import(
    pathToFileURL(path.join(vocabulary(), 'llama-tokenizer.js')).href
  );
  writeAtomically(tableFile(folder), tokenTable(tokenizer.vocabById));
  writeStamp(stampFile(folder), tokensKey());
}
