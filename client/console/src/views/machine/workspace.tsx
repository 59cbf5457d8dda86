/** Usage and quotas of the key's workspace, and its keys. */
import { ask } from '../../api.js';
import { momentText, numberText } from '../../format.js';
import { type Loaded, useLoad } from '../../hooks.js';
import { Failure, FigureList } from '../../parts/basics.js';
import { texts } from '../../texts.js';
import { type Keys, KeysPanel } from './keys.js';

const { machine } = texts;

interface Used {
  readonly used: number;
  readonly quota: number | null;
}

interface Usage {
  readonly workspace_name: string;
  readonly until: string;
  readonly concurrency: number;
  readonly calls: number | null;
  readonly synthesis_characters: Used;
  readonly transcription_seconds: Used;
  readonly conversation_seconds: Used;
}

const number = (value: number): string => numberText(Math.round(value));

const usedText = ({ used, quota }: Used): string =>
  quota === null ? number(used) : machine.ofQuota(number(used), number(quota));

const UsagePanel = ({ usage }: { readonly usage: Usage }) => (
  <section class="panel stack tight">
    <h2>{machine.usage(usage.workspace_name)}</h2>
    <FigureList
      rows={[
        [machine.kinds.characters, usedText(usage.synthesis_characters)],
        [machine.kinds.transcribed, usedText(usage.transcription_seconds)],
        [machine.kinds.calls, usedText(usage.conversation_seconds)],
        [machine.kinds.concurrency, number(usage.concurrency)],
        ...(usage.calls === null ? [] : [[machine.kinds.callsAtOnce, number(usage.calls)] as const]),
        [machine.kinds.until, momentText(usage.until)],
      ]}
    />
  </section>
);

export interface WorkspaceState {
  readonly usage: Usage;
  readonly keys: Keys;
}

export const useWorkspace = (): Loaded<WorkspaceState> =>
  useLoad(async (signal) => {
    const [usage, keys] = await Promise.all([
      ask<Usage>('v1/usage', { signal }),
      ask<Keys>('v1/keys', { signal }),
    ]);
    return { usage, keys };
  }, []);

export function Workspace({
  workspace: { data, error, reload },
}: {
  readonly workspace: Loaded<WorkspaceState>;
}) {
  if (!data) return <Failure error={error} retry={reload} />;
  return (
    <>
      <UsagePanel usage={data.usage} />
      <KeysPanel {...data.keys} reload={reload} />
    </>
  );
}
