/** The guide from a template to a published agent: change it, hear it, publish it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, Refusal } from '../../../api.js';
import { useAction, useLoad } from '../../../hooks.js';
import { Failure, Loading, Page } from '../../../parts/basics.js';
import { go, linkTo } from '../../../router.js';
import { texts } from '../../../texts.js';
import { type Agent, agentPath, type Config, type Published } from '../agent-api.js';
import { type Draft, FirstFields, flushed, useFirstDraft } from './fields.js';
import { NEW } from './gallery.js';
import { Hearing } from './hearing.js';
import { discard, made, type Made } from './made.js';
import type { Template } from './templates.js';
import { firstTexts } from './texts.js';

/** Moves the focus to the beginning of what appears. */
function useFirstFocus() {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  return place;
}

function Live({
  id,
  name,
  published,
}: {
  readonly id: string;
  readonly name: string;
  readonly published: Published;
}) {
  const place = useFirstFocus();
  const { next } = firstTexts;
  const links = [
    [next.talk, linkTo(['talk'], { agent: id })],
    [next.embed, linkTo(['agents', id, 'settings'])],
    [next.phone, linkTo(['phone'])],
    [next.draft, linkTo(['agents', id])],
    [next.another, linkTo(NEW)],
  ] as const;
  return (
    <div ref={place} tabIndex={-1} class="place">
      <Page title={firstTexts.live(name)} intro={firstTexts.liveHelp}>
        <p role="status">{texts.agents.isPublished(published.version_number)}</p>
        {published.warnings.map((warning) => (
          <p class="notice warn" key={warning}>
            {warning}
          </p>
        ))}
        <ul class="stack tight">
          {links.map(([words, to]) => (
            <li key={to}>
              <a href={to}>{words}</a>
            </li>
          ))}
        </ul>
      </Page>
    </div>
  );
}

function Last({
  id,
  draft,
  parts,
  done,
}: {
  readonly id: string;
  readonly draft: Draft;
  readonly parts: Made;
  readonly done: (published: Published) => void;
}) {
  const publishing = useAction(async (signal) => {
    if (!(await flushed(draft))) return;
    done(await ask<Published>(agentPath(id, '/publish'), { body: {}, signal }));
  });
  const leaving = useAction(async () => {
    await discard(parts);
    go(NEW, { deleted: 1 });
  });
  const isBusy = publishing.busy || leaving.busy;
  return (
    <section class="panel stack tight">
      <h2>{firstTexts.steps.publish}</h2>
      <p class="soft">{firstTexts.publishHelp}</p>
      <div class="row">
        <button class="button primary" type="button" disabled={isBusy} onClick={() => void publishing.run()}>
          {firstTexts.publish}
        </button>
        <button class="button" type="button" disabled={isBusy} onClick={() => void leaving.run()}>
          {firstTexts.back}
        </button>
      </div>
      <Failure error={publishing.error ?? leaving.error} />
    </section>
  );
}

function Steps({
  agent,
  config,
  template,
  parts,
}: {
  readonly agent: Agent;
  readonly config: Config;
  readonly template: Template;
  readonly parts: Made;
}) {
  const id = agent.agent_id;
  const place = useFirstFocus();
  const draft = useFirstDraft(agent, config);
  const [published, setPublished] = useState<Published | undefined>();
  const done = (version: Published) => {
    made.forget();
    setPublished(version);
  };
  if (published) return <Live id={id} name={draft.named.value.name} published={published} />;
  return (
    <div ref={place} tabIndex={-1} class="place">
      <Page title={template.title} intro={template.about}>
        <div class="columns">
          <FirstFields draft={draft} parts={parts} />
          <Hearing id={id} template={template} flush={() => flushed(draft)} />
        </div>
        <Last id={id} draft={draft} parts={parts} done={done} />
      </Page>
    </div>
  );
}

const load = (id: string, signal: AbortSignal) =>
  Promise.all([ask<Agent>(agentPath(id), { signal }), ask<Config>(agentPath(id, '/config'), { signal })]);

export function Guide({ parts, template }: { readonly parts: Made; readonly template: Template }) {
  const id = parts.agent ?? '';
  const { data, error, reload } = useLoad((signal) => load(id, signal), [id]);
  const isGone = error instanceof Refusal && error.status === 404;
  useEffect(() => {
    if (!isGone) return;
    made.forget();
    go(NEW, { gone: 1 });
  }, [isGone]);
  if (data) return <Steps agent={data[0]} config={data[1]} template={template} parts={parts} />;
  return (
    <Page title={template.title}>
      {error === undefined ? <Loading /> : <Failure error={error} retry={reload} />}
    </Page>
  );
}
