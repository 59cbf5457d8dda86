/** The voices that this workspace may use, for picking one. */
import { ask } from './api.js';

export interface VoiceRow {
  readonly _id: string;
  readonly title: string;
  readonly description: string;
  readonly languages: readonly string[];
  readonly tags: readonly string[];
  readonly author: { readonly nickname: string };
}

interface VoicePage {
  readonly total: number;
  readonly items: readonly VoiceRow[];
}

const PAGE_SIZE = 100;
/** Most pages: more than anybody wants to pick from. */
const MAX_PAGES = 20;

/** The voices that match a filter of `GET /model`. */
export async function allVoices(
  signal: AbortSignal,
  filter: Readonly<Record<string, string>> = {},
): Promise<readonly VoiceRow[]> {
  const found: VoiceRow[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const query = new URLSearchParams({ ...filter, page_size: String(PAGE_SIZE), page_number: String(page) });
    const { items, total } = await ask<VoicePage>(`model?${query.toString()}`, { signal });
    found.push(...items);
    if (items.length === 0 || found.length >= total) break;
  }
  return found;
}

export const voiceName = ({ title, languages }: VoiceRow): string =>
  languages.length > 0 ? `${title} (${languages.join(', ')})` : title;
