/** Files of pages, as the gateway serves them (gateway/server/system/built-file.ts). */
import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

/** Writes the files, names and contents, plain and compressed, and removes those of builds before. */
export function writeServed(folder, files) {
  fs.mkdirSync(folder, { recursive: true });
  const all = files.flatMap(([name, content]) => [
    [name, content],
    [`${name}.gz`, gzipSync(content, { level: 9 })],
  ]);
  for (const [name, content] of all) fs.writeFileSync(path.join(folder, name), content);
  const kept = new Set(all.map(([name]) => name));
  for (const name of fs.readdirSync(folder)) if (!kept.has(name)) fs.rmSync(path.join(folder, name));
}
