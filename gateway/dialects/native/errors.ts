/** How the native API says that something went wrong; `/model` and `/wallet` say it in the same way. */
export { nativeError } from '../../server/native-error.js';
