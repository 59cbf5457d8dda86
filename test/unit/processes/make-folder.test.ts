/** Folders are made with those above them, or refused with the system's reason, and never tried for ever. */
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from '../../fixtures/tap.js';
import { makeFolder } from '../../../processes/make-folder.js';
import { throwsExactly } from '../../fixtures/exactly.js';
import { temporaryFolder } from '../../fixtures/folders.js';

const folder = temporaryFolder();
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'file');
writeFileSync(file, '');

t.test('a folder is made with those above it, and may be there already', async (t) => {
  const path = join(folder, 'a', 'b', 'c');
  makeFolder(path);
  makeFolder(path);
  makeFolder(`${path}/`);
  t.ok(statSync(path).isDirectory());
});

t.test('a file at the path, or above it, is said', async (t) => {
  throwsExactly(t, () => makeFolder(file), { code: 'EEXIST' });
  throwsExactly(t, () => makeFolder(join(file, 'data')), { code: 'ENOTDIR' });
});

const isLinux = process.platform === 'linux';
t.test(
  'a file system that makes no folders is asked once',
  { skip: isLinux ? false : 'only Linux has /proc' },
  async (t) => {
    throwsExactly(t, () => makeFolder('/proc/speech-gateway/data'), { code: 'ENOENT' });
  },
);
