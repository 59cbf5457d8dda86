/** For pages: `<script src="…/widget.js" async>`. Without `base-url` an agent is one of the gateway that the script is from. */
import { define, useGatewayOf } from './element.js';
import { scriptAddress } from './here.js';

if (scriptAddress !== undefined) useGatewayOf(scriptAddress);
define();
