/** The knowledge that agents search: texts, uploaded as files or typed. */
import { useState } from 'preact/hooks';
import { useMay } from '../../account.js';
import { ask, upload } from '../../api.js';
import { bytesText } from '../../format.js';
import { useAction, useKept, useLoad } from '../../hooks.js';
import { Failure, Field, Loading, Page } from '../../parts/basics.js';
import { kept } from '../../kept.js';
import { NameField } from '../../parts/name-field.js';
import { Listing } from '../../parts/listing.js';
import { Remove } from '../../parts/remove.js';
import { go, linkTo, useAddress } from '../../router.js';
import { texts } from '../../texts.js';
import { KnowledgeSearch } from './search.js';

const { knowledge } = texts;

interface Source {
  readonly knowledge_source_id: string;
  readonly name: string;
  readonly file_name: string;
  readonly size_bytes: number;
  readonly chunk_count: number;
  readonly indexing: keyof typeof knowledge.indexing;
  readonly updated_at: string;
  readonly content: string;
}

const SOURCES = 'v1/agent/knowledge-sources';
const aboutOf = ({ size_bytes: size, chunk_count: count, indexing }: Source): string =>
  `${knowledge.about(bytesText(size), count)}${knowledge.indexing[indexing]}`;

const pathOf = (id: string): string => `${SOURCES}/${encodeURIComponent(id)}`;

function formOf(name: string, file: File): FormData {
  const form = new FormData();
  form.set('name', name);
  form.set('source', file);
  return form;
}

const fileOf = (name: string, content: string): File =>
  new File([content], `${name}.md`, { type: 'text/markdown' });

function useSending(done: (source: Source) => void) {
  const [part, setPart] = useState(0);
  const action = useAction(async (signal, path: string, method: string, form: FormData) => {
    setPart(0);
    done(await upload<Source>(path, form, { method, signal, progress: setPart }));
  });
  return { ...action, part };
}

const Sending = ({ sending }: { readonly sending: ReturnType<typeof useSending> }) => (
  <>
    {sending.busy && (
      <div class="row">
        <progress aria-label={knowledge.sending} value={sending.part} />
        <button class="button" type="button" onClick={sending.cancel}>
          {texts.cancel}
        </button>
      </div>
    )}
    <Failure error={sending.error} />
  </>
);

function useCreation() {
  const [name, setName] = useKept<string>('knowledge.name', '');
  const [content, setContent] = useKept<string>('knowledge.content', '');
  const sending = useSending((source) => {
    setName('');
    setContent('');
    go(['knowledge', source.knowledge_source_id]);
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void sending.run(SOURCES, 'POST', formOf(name, fileOf('knowledge', content)));
  };
  const take = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
    const file = currentTarget.files?.[0];
    if (file) void sending.run(SOURCES, 'POST', formOf(name || file.name, file));
    currentTarget.value = '';
  };
  return { name, setName, content, setContent, sending, submit, take };
}

function Create() {
  const { name, setName, content, setContent, sending, submit, take } = useCreation();
  return (
    <details class="panel section">
      <summary>
        <h2>{knowledge.add}</h2>
      </summary>
      <form class="stack tight" onSubmit={submit}>
        <NameField label={knowledge.name} value={name} change={setName} />
        <Field label={knowledge.content} help={knowledge.contentHelp}>
          {(tied) => (
            <textarea
              {...tied}
              rows={5}
              required
              value={content}
              onInput={({ currentTarget }) => setContent(currentTarget.value)}
            />
          )}
        </Field>
        <div class="row end">
          <button class="button primary" disabled={sending.busy}>
            {texts.agents.create}
          </button>
          <Field label={knowledge.file}>
            {(tied) => (
              <input
                {...tied}
                type="file"
                accept=".md,.txt,.pdf,.html,.htm"
                disabled={sending.busy}
                onChange={take}
              />
            )}
          </Field>
        </div>
        <Sending sending={sending} />
      </form>
    </details>
  );
}

function Editor({ source, changed }: { readonly source: Source; readonly changed: () => void }) {
  const may = useMay();
  const place = `knowledge.${source.knowledge_source_id}`;
  const [content, setContent] = useKept<string>(place, source.content);
  const sending = useSending(() => {
    kept.forget(place);
    changed();
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void sending.run(
      pathOf(source.knowledge_source_id),
      'PATCH',
      formOf(source.name, fileOf('knowledge', content)),
    );
  };
  return (
    <form class="stack tight" onSubmit={submit}>
      <p class="soft">{aboutOf(source)}</p>
      <Field label={knowledge.content}>
        {(tied) => (
          <textarea
            {...tied}
            rows={18}
            disabled={!may('manage')}
            value={content}
            onInput={({ currentTarget }) => setContent(currentTarget.value)}
          />
        )}
      </Field>
      {may('manage') && (
        <div>
          <button class="button primary" disabled={sending.busy || content === source.content}>
            {knowledge.save}
          </button>
        </div>
      )}
      <Sending sending={sending} />
    </form>
  );
}

function SourceView({ id }: { readonly id: string }) {
  const may = useMay();
  const { data, error, reload } = useLoad((signal) => ask<Source>(pathOf(id), { signal }), [id]);
  return (
    <Page
      title={data?.name ?? texts.views.knowledge}
      back={{ name: knowledge.back, to: linkTo(['knowledge']) }}
    >
      <Failure error={error} retry={reload} />
      {!data && error === undefined && <Loading />}
      {data && <Editor source={data} changed={reload} />}
      {data && may('manage') && (
        <Remove path={pathOf(id)} sure={knowledge.removeSure} done={() => go(['knowledge'])} />
      )}
    </Page>
  );
}

export function Knowledge() {
  const may = useMay();
  const id = useAddress().path[1];
  if (id !== undefined) return <SourceView key={id} id={id} />;
  return (
    <Page title={texts.views.knowledge} intro={knowledge.intro}>
      {may('manage') && <Create />}
      <Listing<Source>
        path={`${SOURCES}?page_size=50`}
        plural="knowledge_sources"
        label={texts.views.knowledge}
        none={knowledge.none}
        link={({ knowledge_source_id: source }) => ['knowledge', source]}
        kind={aboutOf}
      />
      <KnowledgeSearch />
    </Page>
  );
}
