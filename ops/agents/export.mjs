/** The files of one agent, as `agents pull --agent NAME` writes them. For browsers: the console saves them. */
import { only } from './chosen.mjs';
import { Workspace } from './remote.mjs';
import { freePlace, textOf } from './texts.mjs';

/** `gateway`: as Workspace takes it. Resolves with path and text of each. Errors: NoVerdict, such as for two things of one name. */
export async function filesOf(gateway, name) {
  const { items } = await new Workspace(gateway).read();
  const files = new Map();
  for (const item of only(items, [name]).values())
    files.set(
      freePlace(item, (place) => files.has(place)),
      textOf(item),
    );
  return [...files].map(([path, text]) => ({ path, text }));
}
