/** `llms.txt`: the site's pages as a list for language models, in the form of llmstxt.org. */
import { leadOf } from './pages.mjs';

const firstSentence = (text) => /^.*?[.:](?= |$)/.exec(text)?.[0] ?? text;

const line = ({ place, title, lead }) => `- [${title}](${place}): ${firstSentence(lead)}`;

/** The file's text; `sections` as `sitePages()` of pages.mjs makes them. Each page is linked as Markdown. */
export function llmsText(sections) {
  const overview = sections[0].pages[0];
  return [
    `# Speech gateway\n\n> ${leadOf(overview.text)}\n`,
    'Every page is here as Markdown, and as HTML with `.html` in place of `.md`.\n',
    ...sections.map(({ reader, pages }) => `## ${reader}\n\n${pages.map(line).join('\n')}\n`),
  ].join('\n');
}
