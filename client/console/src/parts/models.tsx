/** A natural voice that is offered, and the catalogue of models: added with their progress, and removed. */
import { useEffect, useState } from 'preact/hooks';
import { useMay } from '../account.js';
import { ask, Refusal } from '../api.js';
import { type Action, useAction, useLoad } from '../hooks.js';
import { texts } from '../texts.js';
import { allVoices } from '../voices.js';
import { Failure, Scroll } from './basics.js';
import { Hear, useSample } from './sample.js';
import { type CatalogueModel, isComing, type Shelf, type UsedShelf } from './shelf.js';

const { models } = texts;
const CONFLICT = 409;

const placeOf = (name: string): string => `v1/machine/models/${encodeURIComponent(name)}`;

/** Told to those who do not see the bar, at each tenth. */
function wordsOf(shelf: Shelf, { name, title, state, decided_by: by }: CatalogueModel): string {
  const { adding } = shelf;
  if (adding?.name === name && adding.problem === null) {
    const percent = Math.floor((10 * adding.bytes) / Math.max(1, adding.total_bytes)) * 10;
    if (percent >= 100) return models.checks(title);
    return percent === 0 ? models.begins(title) : models.part(title, percent);
  }
  if (adding?.name === name) return models.failed(title);
  if (state === 'added' && by.length > 0) return models.unused(title, by.join(', '));
  return state === 'added' ? models.takesUp(title) : models.inUse(title);
}

const Quickness = ({ model }: { readonly model: CatalogueModel }) => {
  const { cpu_seconds: seconds, quick_enough_for_calls: isQuick } = model;
  if (seconds === null) return null;
  return <p class="soft">{isQuick ? models.quick(seconds) : models.slow(seconds)}</p>;
};

/** What happens to a model now; nothing if nothing does. */
function Happening({
  shelf,
  model,
  cancel,
}: {
  readonly shelf: Shelf;
  readonly model: CatalogueModel;
  readonly cancel: Action<[CatalogueModel]>;
}) {
  const { adding } = shelf;
  const isMine = adding?.name === model.name;
  if (isMine && adding.problem !== null) return <Failure error={new Refusal(CONFLICT, adding.problem)} />;
  if (!isMine && !isComing(model)) return null;
  return (
    <div class="row">
      {isMine && adding.bytes > 0 ? (
        <progress aria-label={models.progress(model.title)} value={adding.bytes} max={adding.total_bytes} />
      ) : (
        <progress aria-label={models.progress(model.title)} />
      )}
      {isMine && (
        <button class="button" type="button" disabled={cancel.busy} onClick={() => void cancel.run(model)}>
          {models.cancel}
        </button>
      )}
    </div>
  );
}

/** What can be done with the shelf; each looks at it again. */
function useChanges(reload: () => void, begun: (name: string) => void) {
  const add = useAction(async (signal, { name }: CatalogueModel) => {
    begun(name);
    await ask(placeOf(name), { method: 'POST', signal });
    reload();
  });
  const cancel = useAction(async (signal, { name }: CatalogueModel) => {
    await ask(`${placeOf(name)}/download`, { method: 'DELETE', signal });
    reload();
  });
  const remove = useAction(async (signal, { name, title }: CatalogueModel) => {
    if (!confirm(models.removeSure(title))) return;
    const take = (query: string) => ask(`${placeOf(name)}${query}`, { method: 'DELETE', signal });
    try {
      await take('');
    } catch (error) {
      const isUsed =
        error instanceof Refusal && error.status === CONFLICT && error.message.includes('sure=true');
      if (!isUsed || !confirm(models.removeUsed(error.message))) throw error;
      await take('?sure=true');
    }
    reload();
  });
  return { add, cancel, remove, error: add.error ?? cancel.error ?? remove.error };
}

/** The model that was added last while this is shown, by this page or somebody else. */
function useBegun(shelf: Shelf | undefined) {
  const [begun, setBegun] = useState<string | undefined>(undefined);
  const adding = shelf?.adding?.problem === null ? shelf.adding.name : undefined;
  useEffect(() => {
    if (adding !== undefined) setBegun(adding);
  }, [adding]);
  return [begun, setBegun] as const;
}

/** A sample of a voice that was added just now. */
function HearIt({ model }: { readonly model: CatalogueModel }) {
  const may = useMay();
  const hear = useSample();
  const { data } = useLoad(allVoices, []);
  const voice = data?.find(({ tags }) => tags.includes(`sherpa/${model.name}`));
  if (!voice || !may('speech')) return null;
  const { _id: id, title, languages } = voice;
  return (
    <div class="row">
      <Hear voice={{ id, title, languages }} hear={hear} />
      <Failure error={hear.error} />
    </div>
  );
}

/** Why nothing can be added here. */
const Fixed = ({ shelf: { fixed } }: { readonly shelf: Shelf }) =>
  fixed === null ? null : (
    <p class="notice warn">
      {models.fixed} {fixed}
    </p>
  );

const About = ({ model }: { readonly model: CatalogueModel }) => (
  <>
    <p>{models.about(model.title, model.download_bytes, model.licence)}</p>
    {model.lineage !== null && <p class="soft">{model.lineage}</p>}
    <Quickness model={model} />
  </>
);

const isAdding = ({ adding }: Shelf, { name }: CatalogueModel): boolean =>
  adding?.name === name && adding.problem === null;

/** Whether something is to be told of a model. */
const hasNews = (shelf: Shelf, { name, state }: CatalogueModel): boolean =>
  state !== 'absent' || shelf.adding?.name === name;

/** Offers the natural voice while there is none, tells how it comes, and lets it be heard. */
export function NaturalVoice({ used: { shelf, reload } }: { readonly used: UsedShelf }) {
  const [begun, setBegun] = useBegun(shelf);
  const changes = useChanges(reload, setBegun);
  const model = shelf?.models.find(({ name }) => name === (shelf.offered ?? begun));
  if (!shelf || !model) return null;
  const { state } = model;
  return (
    <section class="panel stack tight section">
      <h2>{models.offer}</h2>
      {state !== 'in_use' && <p>{models.offerHelp}</p>}
      <About model={model} />
      <Fixed shelf={shelf} />
      {state === 'absent' && !isAdding(shelf, model) && (
        <div>
          <button
            class="button primary"
            type="button"
            disabled={changes.add.busy || shelf.fixed !== null}
            onClick={() => void changes.add.run(model)}
          >
            {models.add}
          </button>
        </div>
      )}
      <p role="status">{begun === model.name && hasNews(shelf, model) && wordsOf(shelf, model)}</p>
      <Happening shelf={shelf} model={model} cancel={changes.cancel} />
      {state === 'in_use' && <HearIt model={model} />}
      <Failure error={changes.error} />
    </section>
  );
}

function Row({
  shelf,
  model,
  changes,
}: {
  readonly shelf: Shelf;
  readonly model: CatalogueModel;
  readonly changes: ReturnType<typeof useChanges>;
}) {
  const { title, task, languages, state, licence, download_bytes: download, disk_bytes: disk } = model;
  const isUnderWay = shelf.adding?.problem === null;
  return (
    <tr>
      <td>
        {title} <span class="tag">{models.tasks[task] ?? task}</span>
        <Quickness model={model} />
        <Happening shelf={shelf} model={model} cancel={changes.cancel} />
      </td>
      <td class="spare">{languages === null ? models.any : languages.join(', ')}</td>
      <td class="spare">{models.sizes(download, disk)}</td>
      <td>{licence}</td>
      <td>{models.states[state] ?? state}</td>
      <td>
        {state === 'absent' && (
          <button
            class="button"
            type="button"
            aria-label={models.addOne(title)}
            disabled={isUnderWay || shelf.fixed !== null}
            onClick={() => void changes.add.run(model)}
          >
            {models.addThis}
          </button>
        )}
        {(state === 'in_use' || state === 'added') && (
          <button
            class="button danger"
            type="button"
            aria-label={models.removeOne(title)}
            disabled={changes.remove.busy || shelf.fixed !== null}
            onClick={() => void changes.remove.run(model)}
          >
            {models.remove}
          </button>
        )}
      </td>
    </tr>
  );
}

const HEADS = [models.name, models.languages, models.size, models.licence, models.state] as const;
const SPARE = new Set<string>([models.languages, models.size]);

/** All models of the catalogue, folded up. */
export function Models({ used: { shelf, error, reload } }: { readonly used: UsedShelf }) {
  const [begun, setBegun] = useBegun(shelf);
  const changes = useChanges(reload, setBegun);
  const told = shelf?.models.find(({ name }) => name === begun);
  if (!shelf) return <Failure error={error} />;
  return (
    <details class="panel section">
      <summary>
        <h2>{models.all}</h2>
      </summary>
      <div class="stack tight">
        <p class="soft">{models.allHelp}</p>
        <Fixed shelf={shelf} />
        {shelf.problem !== null && (
          <p class="notice warn">
            {models.problem} {shelf.problem}
          </p>
        )}
        <p role="status">{told && hasNews(shelf, told) && wordsOf(shelf, told)}</p>
        <Failure error={changes.error} />
        <Scroll label={models.all}>
          <table>
            <thead>
              <tr>
                {HEADS.map((head) => (
                  <th key={head} class={SPARE.has(head) ? 'spare' : undefined}>
                    {head}
                  </th>
                ))}
                <th>{models.change}</th>
              </tr>
            </thead>
            <tbody>
              {shelf.models.map((model) => (
                <Row key={model.name} shelf={shelf} model={model} changes={changes} />
              ))}
            </tbody>
          </table>
        </Scroll>
      </div>
    </details>
  );
}
