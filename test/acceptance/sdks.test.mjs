/** The unmodified SDKs of four services on the REST of their protocols, one after the other, on one gateway (breaks.mjs). */
import './openai.mjs';
import './groq.mjs';
import './openrouter.mjs';
import './fish-audio.mjs';
