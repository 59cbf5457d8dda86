/**
 * The copy of a binding that an older glibc loads (older-glibc.ts). It is kept from one start to the next, in a folder that only its
 * owner may write to; what the package manager laid out stays as it is. Only binaries that were looked at and tried are adapted, and
 * only what was then made of them is loaded: both are known by their digests.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { privateFolder, writePrivateFile } from '../../../processes/private-folder.js';
import { forOlderGlibc } from './older-glibc.js';

/** SHA-256, in hexadecimal. */
interface Digests {
  readonly original: string;
  readonly copy: string;
}

/** Of uWebSockets.js 20.56.0, by the names of its binaries. */
export const ADAPTED: Readonly<Record<string, Digests>> = {
  'uws_linux_x64_115.node': {
    original: '3c4cfd4f4673c591dbca82cdda94f7e0ad9bc298966c39a7bd259838c2b25d4f',
    copy: '35cad869817cdd371b41157849e606863126d49f311720e6a615080377a54dbb',
  },
  'uws_linux_x64_127.node': {
    original: '0e0af5d0e486b67e25dd5c6686f8f05be4504629404d5c1972c808ab5d8e4cc2',
    copy: '87c413d1b1b1671ea81da757fa67199edd246453877083ab886fe1e7900f8cf4',
  },
  'uws_linux_x64_137.node': {
    original: '9aa8b857ac4ab0bfb1245e948eeeacc904b13a3608c9a281d551c43c66bea66e',
    copy: '0ff425dfe92ab9aceb6c15d8ef8408435fe3bed076dca62e93f5e1c1d1345d9f',
  },
  'uws_linux_arm64_115.node': {
    original: '5f179165f9ade910999ce8724d71ecdcc4f7e1b944053683d98bfda62665e081',
    copy: 'a194fa54418161f60dbb84c377a3cb273ca4cb11442bdd5624fdc39ea2c76c0c',
  },
  'uws_linux_arm64_127.node': {
    original: 'db310856b4d36b2b6e83888c9faa87ccd65454e6157f457bf9cb4ebabaed7a65',
    copy: '7d92482a06e4746d172cdea39d925c33d0c6ee0de933b8d2a3e080a4037cfeda',
  },
  'uws_linux_arm64_137.node': {
    original: 'ad0ffb42a119ee022ba1fc752d942e5a19b863ce47bfdc909cd1d5bc1363a7a6',
    copy: '7a8680f1e6d7055da30777f8417bf2b03378f04cb731055ad0f5ca0845ad9ab9',
  },
};

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function holds(file: string, digest: string): boolean {
  try {
    return digestOf(readFileSync(file)) === digest;
  } catch {
    return false;
  }
}

/** The folder that is used if there is no other, or the other takes no files or loads none. */
export const temporaryCache = (): string =>
  path.join(tmpdir(), `speech-gateway-cache-${process.geteuid?.() ?? 0}`);

/** The binary's bytes. */
function known(file: string, digest: string): Uint8Array {
  const bytes = readFileSync(file);
  if (digestOf(bytes) !== digest) throw new Error('it is another build than the one that is known');
  return bytes;
}

/** The copy's bytes. */
function adapted(binary: Uint8Array, digest: string): Uint8Array {
  const made = forOlderGlibc(binary);
  if (digestOf(made) !== digest) throw new Error('its copy is not the one that is known');
  return made;
}

/** Several processes may write it at once: each puts a whole file in the place. */
function put(file: string, bytes: Uint8Array): void {
  const whole = `${file}.${randomUUID()}`;
  try {
    writePrivateFile(whole, bytes);
    renameSync(whole, file);
  } finally {
    rmSync(whole, { force: true });
  }
}

/**
 * Makes the copy of a binary in the folder, or finds it there; the folder's parent must exist. Returns its path. Errors: an Error that
 * says why the binary is not adapted ("it …") or why the folder takes no copy. `table`: the digests of those that are adapted.
 */
export function adaptedCopy(file: string, folder: string, table = ADAPTED): string {
  const name = path.basename(file);
  const digests = table[name];
  if (digests === undefined) throw new Error('it is none of those that are known');
  const binary = known(file, digests.original);
  const copy = path.join(privateFolder(folder), `${digests.copy.slice(0, 8)}-${name}`);
  if (!holds(copy, digests.copy)) put(copy, adapted(binary, digests.copy));
  return copy;
}
