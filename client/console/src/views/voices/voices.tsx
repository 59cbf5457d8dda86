/** The available voices: play samples, filter, create from recordings if an engine can clone. */
import { useRef, useState } from 'preact/hooks';
import { useMay } from '../../account.js';
import { ask, upload } from '../../api.js';
import { submitting, useAction, useKept, useLoad } from '../../hooks.js';
import { Empty, Failure, Field, Loading, Page, Scroll } from '../../parts/basics.js';
import { Models, NaturalVoice } from '../../parts/models.js';
import { Hear, useSample } from '../../parts/sample.js';
import { useShelf } from '../../parts/shelf.js';
import { linkTo, setQuery, useAddress } from '../../router.js';
import { texts } from '../../texts.js';
import { allVoices, type VoiceRow } from '../../voices.js';

const { voices } = texts;

interface Known {
  readonly all: readonly VoiceRow[];
  /** Ids of the voices that this workspace created. */
  readonly own: ReadonlySet<string>;
}

async function load(signal: AbortSignal): Promise<Known> {
  const [all, own] = await Promise.all([allVoices(signal), allVoices(signal, { self: 'true' })]);
  return { all, own: new Set(own.map(({ _id }) => _id)) };
}

const languagesOf = (all: readonly VoiceRow[]): readonly string[] =>
  [...new Set(all.flatMap(({ languages }) => languages))].sort();

function matches({ title, languages, tags, author }: VoiceRow, query: URLSearchParams): boolean {
  const language = query.get('language');
  const words = (query.get('search') ?? '').toLowerCase();
  const text = [title, author.nickname, ...tags].join(' ').toLowerCase();
  return (!language || languages.includes(language)) && text.includes(words);
}

function Filters({ all, query }: { readonly all: readonly VoiceRow[]; readonly query: URLSearchParams }) {
  return (
    <div class="fields filters">
      <Field label={voices.search}>
        {(tied) => (
          <input
            {...tied}
            type="search"
            value={query.get('search') ?? ''}
            onInput={({ currentTarget }) => setQuery({ search: currentTarget.value })}
          />
        )}
      </Field>
      <Field label={voices.language}>
        {(tied) => (
          <select
            {...tied}
            value={query.get('language') ?? ''}
            onChange={({ currentTarget }) => setQuery({ language: currentTarget.value })}
          >
            <option value="">{voices.anyLanguage}</option>
            {languagesOf(all).map((language) => (
              <option key={language}>{language}</option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
}

interface RowProps {
  readonly voice: VoiceRow;
  readonly own: boolean;
  readonly hear: ReturnType<typeof useSample>;
  readonly remove: (voice: VoiceRow) => void;
}

const Row = ({ voice, own, hear, remove }: RowProps) => {
  const may = useMay();
  const { _id: id, title, languages, author } = voice;
  return (
    <tr>
      <td>
        {title}
        {own && <span class="tag">{voices.own}</span>}
      </td>
      <td>{languages.join(', ')}</td>
      <td class="spare">{author.nickname}</td>
      <td>
        <div class="row line">
          {may('speech') && (
            <>
              <Hear voice={{ id, title, languages }} hear={hear} />
              <a href={linkTo(['speak'], { voice: id })} aria-label={voices.useOne(title)}>
                {texts.views.speak}
              </a>
            </>
          )}
          {own && may('manage') && (
            <button
              class="button danger"
              type="button"
              aria-label={voices.removeOne(title)}
              onClick={() => remove(voice)}
            >
              {voices.remove}
            </button>
          )}
        </div>
      </td>
    </tr>
  );
};

const Table = ({
  rows,
  own,
  hear,
  remove,
}: Omit<RowProps, 'voice' | 'own'> & { readonly rows: readonly VoiceRow[]; readonly own: Known['own'] }) => (
  <Scroll label={texts.views.voices}>
    <table>
      <thead>
        <tr>
          <th>{voices.title}</th>
          <th>{voices.languages}</th>
          <th class="spare">{voices.engine}</th>
          <th>{voices.sample}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((voice) => (
          <Row key={voice._id} voice={voice} own={own.has(voice._id)} hear={hear} remove={remove} />
        ))}
      </tbody>
    </table>
  </Scroll>
);

const Making = ({
  busy,
  part,
  cancel,
}: {
  readonly busy: boolean;
  readonly part: number;
  readonly cancel: () => void;
}) => (
  <div class="row">
    <button class="button primary" disabled={busy}>
      {voices.make}
    </button>
    {busy && <progress aria-label={voices.files} value={part} />}
    {busy && (
      <button class="button" type="button" onClick={cancel}>
        {texts.cancel}
      </button>
    )}
  </div>
);

/** Creates a voice from recordings of somebody who has agreed to it. */
function Create({ done }: { readonly done: () => void }) {
  const [title, setTitle] = useKept<string>('voice.title', '');
  const [part, setPart] = useState(0);
  const files = useRef<HTMLInputElement>(null);
  const making = useAction(async (signal) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ type: 'tts', train_mode: 'fast', title: title.trim() }))
      form.set(name, value);
    for (const file of files.current?.files ?? []) form.append('voices', file);
    await upload('model', form, { signal, progress: setPart });
    setTitle('');
    done();
  });
  return (
    <details class="panel section">
      <summary>
        <h2>{voices.create}</h2>
      </summary>
      <form class="stack tight" onSubmit={submitting(making)}>
        <p class="soft">{voices.createHelp}</p>
        <Field label={voices.title}>
          {(tied) => (
            <input
              {...tied}
              required
              maxLength={200}
              value={title}
              onInput={({ currentTarget }) => setTitle(currentTarget.value)}
            />
          )}
        </Field>
        <Field label={voices.files}>
          {(tied) => <input {...tied} ref={files} type="file" accept="audio/*" multiple required />}
        </Field>
        <Making busy={making.busy} part={part} cancel={making.cancel} />
        <Failure error={making.error} />
      </form>
    </details>
  );
}

export function Voices() {
  const may = useMay();
  const { query } = useAddress();
  const { data, error, reload } = useLoad(load, []);
  const shelf = useShelf(reload);
  const hear = useSample();
  const removal = useAction(async (signal, { _id: id, title }: VoiceRow) => {
    if (!confirm(voices.removeSure(title))) return;
    await ask(`model/${encodeURIComponent(id)}`, { method: 'DELETE', signal });
    reload();
  });
  const rows = data?.all.filter((voice) => matches(voice, query)) ?? [];
  return (
    <Page title={texts.views.voices} intro={voices.intro}>
      <NaturalVoice used={shelf} />
      <Models used={shelf} />
      {may('manage') && <Create done={reload} />}
      {!data && error === undefined && <Loading />}
      <Failure error={error ?? hear.error ?? removal.error} />
      {data && <Filters all={data.all} query={query} />}
      {data && rows.length === 0 && <Empty title={voices.none} />}
      {rows.length > 0 && (
        <Table
          rows={rows}
          own={data?.own ?? new Set()}
          hear={hear}
          remove={(voice) => void removal.run(voice)}
        />
      )}
    </Page>
  );
}
