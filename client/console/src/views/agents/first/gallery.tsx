/** The templates to choose from. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAction } from '../../../hooks.js';
import { Failure, Page } from '../../../parts/basics.js';
import { go, linkTo } from '../../../router.js';
import { texts } from '../../../texts.js';
import { discard, make, made, type Made } from './made.js';
import { type Template, TEMPLATES, templateOf } from './templates.js';
import { firstTexts } from './texts.js';

export const NEW = ['agents', 'new'] as const;

/** A draft that was begun before: nothing of it is lost, and nothing is made beside it by accident. */
function Begun({ draft, gone }: { readonly draft: Made; readonly gone: () => void }) {
  const removal = useAction(async () => {
    await discard(draft);
    gone();
  });
  return (
    <div class="notice stack tight">
      <p>{firstTexts.begun(templateOf(draft.template)?.title ?? draft.template)}</p>
      <div class="row">
        <a class="button primary" href={linkTo([...NEW, draft.template])}>
          {firstTexts.goOn}
        </a>
        <button
          class="button danger"
          type="button"
          disabled={removal.busy}
          onClick={() => void removal.run()}
        >
          {firstTexts.discard}
        </button>
      </div>
      <Failure error={removal.error} />
    </div>
  );
}

const Card = ({
  template: { title, about },
  disabled,
  choose,
}: {
  readonly template: Template;
  readonly disabled: boolean;
  readonly choose: () => void;
}) => (
  <li class="panel stack tight">
    <h2>{title}</h2>
    <p class="grow">{about}</p>
    <div>
      <button
        class="button primary"
        type="button"
        disabled={disabled}
        aria-label={firstTexts.chooseOne(title)}
        onClick={choose}
      >
        {firstTexts.choose}
      </button>
    </div>
  </li>
);

/** `note`: what has just happened, to be announced. */
export function Gallery({ note = '' }: { readonly note?: string }) {
  const [begun, setBegun] = useState(made.read);
  const [told, setTold] = useState(note);
  const place = useRef<HTMLDivElement>(null);
  const focus = () => place.current?.focus();
  useEffect(focus, []);
  const making = useAction(async (_signal, template: Template) => {
    await make(template);
    go([...NEW, template.id]);
  });
  const gone = () => {
    setBegun(undefined);
    setTold(firstTexts.discarded);
    focus();
  };
  return (
    <div ref={place} tabIndex={-1} class="place">
      <Page
        title={firstTexts.title}
        intro={firstTexts.intro}
        back={{ name: texts.agents.back, to: linkTo(['agents']) }}
      >
        <p role="status" class="soft">
          {making.busy ? firstTexts.making : told}
        </p>
        {begun?.agent && <Begun draft={begun} gone={gone} />}
        <Failure error={making.error} />
        <ul class="cards">
          {TEMPLATES.map((template) => (
            <Card
              key={template.id}
              template={template}
              disabled={making.busy || begun?.agent !== undefined}
              choose={() => void making.run(template)}
            />
          ))}
        </ul>
      </Page>
    </div>
  );
}
