/** Saves an agent as the files that `agents pull` writes, in an archive: they go into a repository, or to another gateway. */
import { ask } from '../../api.js';
import { useAction } from '../../hooks.js';
import { Failure, Marked } from '../../parts/basics.js';
import { saveFile } from '../../save.js';
import { texts } from '../../texts.js';
import type { Agent } from './agent-api.js';

const { files: said } = texts.agents;

/** Characters that no file system refuses. */
const fileName = (name: string): string =>
  name.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '') || 'agent';

async function save({ name }: Agent, signal: AbortSignal): Promise<void> {
  // Both are loaded when somebody wants them: they are no part of the first load.
  const [{ filesOf }, { zipOf }] = await Promise.all([
    import('../../../../../ops/agents/export.mjs'),
    import('../../zip.js'),
  ]);
  const gateway = {
    call: (method: string, path: string) => ask<unknown>(`v1/agent/${path}`, { method, signal }),
  };
  saveFile(`${fileName(name)}.zip`, zipOf(await filesOf(gateway, name)));
}

export function Export({ agent }: { readonly agent: Agent }) {
  const saving = useAction((signal) => save(agent, signal));
  return (
    <section class="panel stack tight">
      <h2>{said.title}</h2>
      <p class="soft">
        <Marked text={said.help} />
      </p>
      <div class="row">
        <button class="button" type="button" disabled={saving.busy} onClick={() => void saving.run()}>
          {said.save}
        </button>
        <span role="status">{saving.busy && said.working}</span>
      </div>
      <Failure error={saving.error} />
    </section>
  );
}
