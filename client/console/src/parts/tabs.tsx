/** Links to the parts of something; if they do not all fit, as on a phone, the current one is scrolled into view. */
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface Tab {
  readonly name: string;
  readonly to: string;
  readonly isCurrent: boolean;
}

export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const links = useRef<HTMLElement>(null);
  const current = tabs.find(({ isCurrent }) => isCurrent)?.to;
  useLayoutEffect(() => {
    const link = links.current?.querySelector<HTMLElement>('[aria-current]');
    if (link)
      links.current?.scrollTo({ left: link.offsetLeft + link.offsetWidth - links.current.offsetWidth });
  }, [current]);
  return (
    <nav class="tabs" aria-label={label} ref={links}>
      {tabs.map(({ name, to, isCurrent }) => (
        <a key={to} href={to} aria-current={isCurrent ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}
