/** The log of events, which can be filtered, paused and copied. */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { placesText } from '../../format.js';
import { Empty, Field } from '../../parts/basics.js';
import { Copy } from '../../parts/copy.js';
import { setQuery, useAddress } from '../../router.js';
import { texts } from '../../texts.js';
import type { Passed } from './event-log.js';

const { realtime } = texts;

const secondsText = (ms: number): string => `${placesText(ms / 1000, 2)} s`;

const Row = ({ passed: { direction, type, ms, json } }: { readonly passed: Passed }) => {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span class="clock">{secondsText(ms)}</span>
        <span class={direction}>{realtime.directions[direction]}</span>
        <span class={`mono ${type === 'error' ? 'problem' : ''}`}>{type}</span>
      </summary>
      {open && (
        <div class="stack tight opened">
          <pre tabIndex={0}>{json}</pre>
          <div>
            <Copy text={json} />
          </div>
        </div>
      )}
    </details>
  );
};

const FOLLOWING_PX = 40;

function List({ events }: { readonly events: readonly Passed[] }) {
  const list = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const scrolled = ({
    currentTarget: { scrollTop, clientHeight, scrollHeight },
  }: {
    readonly currentTarget: HTMLElement;
  }) => {
    follows.current = scrollTop + clientHeight > scrollHeight - FOLLOWING_PX;
  };
  useLayoutEffect(() => {
    if (follows.current) list.current?.scrollTo(0, list.current.scrollHeight);
  }, [events]);
  return (
    <div
      class="events"
      ref={list}
      role="region"
      aria-label={realtime.events}
      tabIndex={0}
      onScroll={scrolled}
    >
      {events.map((passed) => (
        <Row key={passed.number} passed={passed} />
      ))}
    </div>
  );
}

function Filters({ text, direction }: { readonly text: string; readonly direction: string }) {
  return (
    <>
      <Field label={realtime.filter}>
        {(tied) => (
          <input
            {...tied}
            type="search"
            value={text}
            onInput={({ currentTarget }) => setQuery({ filter: currentTarget.value })}
          />
        )}
      </Field>
      <Field label={realtime.direction}>
        {(tied) => (
          <select
            {...tied}
            value={direction}
            onChange={({ currentTarget }) => setQuery({ direction: currentTarget.value })}
          >
            <option value="">{realtime.both}</option>
            {(['sent', 'received'] as const).map((each) => (
              <option key={each} value={each}>
                {realtime.directions[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
    </>
  );
}

const useShown = (events: readonly Passed[], text: string, direction: string): readonly Passed[] =>
  useMemo(
    () =>
      events.filter(
        (passed) =>
          (direction === '' || passed.direction === direction) &&
          `${passed.type} ${passed.json}`.toLowerCase().includes(text.toLowerCase()),
      ),
    [events, text, direction],
  );

export function Events({
  events,
  clear,
}: {
  readonly events: readonly Passed[];
  readonly clear: () => void;
}) {
  const { query } = useAddress();
  const [held, setHeld] = useState<readonly Passed[] | undefined>();
  const text = query.get('filter') ?? '';
  const direction = query.get('direction') ?? '';
  const all = held ?? events;
  const shown = useShown(all, text, direction);
  // Drawn only when the list changes, not with every other change of the session.
  const list = useMemo(() => <List events={shown} />, [shown]);
  const forget = () => {
    setHeld(undefined);
    clear();
  };
  return (
    <section class="stack tight">
      <h2>{realtime.events}</h2>
      <div class="row end">
        <Filters text={text} direction={direction} />
        <button
          class="button"
          type="button"
          aria-pressed={held !== undefined}
          onClick={() => setHeld(held ? undefined : events)}
        >
          {held ? realtime.goOn : realtime.hold}
        </button>
        <Copy text={shown.map(({ json }) => json).join('\n')} />
        <button class="button" type="button" disabled={events.length === 0} onClick={forget}>
          {realtime.clear}
        </button>
      </div>
      {shown.length === 0 ? (
        <Empty title={events.length === 0 ? realtime.noEvents : realtime.noneMatching} />
      ) : (
        list
      )}
      <p class="soft">{realtime.shown(shown.length)}</p>
    </section>
  );
}
