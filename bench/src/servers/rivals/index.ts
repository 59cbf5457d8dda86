/** All of them, in the order in which they are reported. */
import { litellm } from './litellm.js';
import { oneApi } from './one-api.js';
import { portkey } from './portkey.js';
import { proxies } from './proxies.js';
import type { Rival } from './rival.js';

export const RIVALS: readonly Rival[] = [...proxies, portkey, litellm, oneApi];
