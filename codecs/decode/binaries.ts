/**
 * Which ffmpeg decodes: the operator's (FFMPEG_PATH), else the small LGPL build of @livekit/av, and for what that lacks, such as
 * AAC, `ffmpeg` on PATH.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { getFfmpegPath } from '@livekit/av';

/**
 * The binaries to try, in this order. The build from npm comes first: it starts in 5 ms, one that a distribution has linked to
 * two hundred libraries in 100. Empty if there is none for this platform.
 * Throws if the operator named one that is not executable.
 */
export function findFfmpegs(
  named: string | undefined,
  searchPath = process.env['PATH'] ?? '',
): readonly string[] {
  if (named !== undefined && named !== '') {
    if (isExecutable(named)) return [named];
    throw new Error(`FFMPEG_PATH: ${named} is not an executable file`);
  }
  const folders = searchPath.split(delimiter).filter(isAbsolute);
  const onPath = folders.map((folder) => join(folder, 'ffmpeg')).find(isExecutable);
  return [getFfmpegPath(), onPath].filter((binary) => binary !== undefined);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
