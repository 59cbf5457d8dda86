/** docs/configuration.md and help.txt, from the built table of settings. */
import { built } from './command.mjs';

const help = async () => import(built('dist', 'gateway', 'config', 'help.js'));

export const generatePage = async () => (await help()).helpPage();
export const generateText = async () => (await help()).helpText();
