/** Published versions: compare one with the draft or another version, or restore it to the draft. The address holds the compared versions. */
import { useMay } from '../../account.js';
import { ask } from '../../api.js';
import { momentText } from '../../format.js';
import { useAction, useLoad, usePages } from '../../hooks.js';
import { Empty, Failure, Field, Loading, More } from '../../parts/basics.js';
import { setQuery, useAddress } from '../../router.js';
import { texts } from '../../texts.js';
import { agentPath, type Config, readVersion, type Version } from './agent-api.js';
import { Differences } from './difference.js';

const { agents } = texts;

interface Props {
  readonly id: string;
  /** The version that callers hear. */
  readonly live: Version | undefined;
  readonly draft: Config;
  readonly restored: (config: Config) => void;
}

interface OfVersion extends Props {
  readonly number: number;
  readonly versions: readonly Version[];
}

const nameOf = ({ version_number: number, version_title: title }: Version): string =>
  [agents.version(number), title].filter(Boolean).join(' · ');

const Other = ({
  number,
  versions,
  other,
}: Pick<OfVersion, 'number' | 'versions'> & { readonly other: number | undefined }) => (
  <Field label={agents.beside}>
    {(tied) => (
      <select
        {...tied}
        value={String(other ?? '')}
        onChange={({ currentTarget }) => setQuery({ beside: currentTarget.value })}
      >
        <option value="">{agents.draft}</option>
        {versions
          .filter((version) => version.version_number !== number)
          .map((version) => (
            <option key={version.version_number} value={String(version.version_number)}>
              {nameOf(version)}
            </option>
          ))}
      </select>
    )}
  </Field>
);

/** Both sides of a comparison; if no newer version is given, the draft is the newer side. */
function Sides({
  id,
  draft,
  older,
  newer,
}: Pick<Props, 'id' | 'draft'> & { readonly older: number; readonly newer: number | undefined }) {
  const { data, error, reload } = useLoad(
    (signal) =>
      Promise.all([
        readVersion(id, older, signal),
        newer === undefined ? undefined : readVersion(id, newer, signal),
      ]),
    [id, older, newer],
  );
  if (!data) return error === undefined ? <Loading /> : <Failure error={error} retry={reload} />;
  const [before, after = draft] = data;
  return (
    <Differences
      before={before}
      after={after}
      names={[agents.version(older), newer === undefined ? agents.draft : agents.version(newer)]}
    />
  );
}

function Restore({ id, number, restored }: Pick<OfVersion, 'id' | 'number' | 'restored'>) {
  const restoring = useAction(async (signal) => {
    const body = await readVersion(id, number, signal);
    restored(await ask<Config>(agentPath(id, '/config'), { method: 'PATCH', body }));
  });
  return (
    <>
      <div>
        <button class="button" type="button" disabled={restoring.busy} onClick={() => void restoring.run()}>
          {agents.restore(number)}
        </button>
      </div>
      <Failure error={restoring.error} />
    </>
  );
}

function Beside({ number, versions, ...props }: OfVersion) {
  const may = useMay();
  const other = Number(useAddress().query.get('beside')) || undefined;
  const [older, newer] = other === undefined || other > number ? [number, other] : [other, number];
  return (
    <div class="stack tight">
      <div class="row end">
        <Other number={number} versions={versions} other={other} />
      </div>
      <Sides key={`${older} ${newer}`} {...props} older={older} newer={newer} />
      {may('manage') && <Restore {...props} number={number} />}
    </div>
  );
}

const Row = ({ version, ...props }: Omit<OfVersion, 'number'> & { readonly version: Version }) => {
  const number = version.version_number;
  const isOpen = useAddress().query.get('version') === String(number);
  return (
    <li class="panel stack tight">
      <div class="row apart">
        <div>
          <div class="row">
            <h2>{nameOf(version)}</h2>
            {number === props.live?.version_number && <span class="tag good">{agents.isTheLive}</span>}
          </div>
          <p class="soft">{momentText(version.published_at)}</p>
        </div>
        <button
          class="button"
          type="button"
          aria-label={agents.compareOne(number)}
          aria-expanded={isOpen}
          onClick={() => setQuery({ version: isOpen ? '' : number, beside: '' })}
        >
          {agents.compare}
        </button>
      </div>
      {version.version_description && <p>{version.version_description}</p>}
      {isOpen && <Beside {...props} number={number} />}
    </li>
  );
};

export function Versions(props: Props) {
  const { rows, error, busy, more, reload } = usePages<Version>(
    agentPath(props.id, '/versions?page_size=30'),
    'versions',
  );
  if (!rows) return busy ? <Loading /> : <Failure error={error} retry={reload} />;
  if (rows.length === 0) return <Empty title={agents.never} />;
  return (
    <>
      <ul class="stack tight">
        {rows.map((version) => (
          <Row key={version.version_number} {...props} version={version} versions={rows} />
        ))}
      </ul>
      <More more={more} busy={busy} />
    </>
  );
}
