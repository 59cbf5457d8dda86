/** The interface description, from the routes of dialects. */
import t from '../../../../fixtures/tap.js';
import { describeInterface } from '../../../../../gateway/server/openapi/openapi.js';
import { dialect, get, json, post } from '../../../../fixtures/edge/edge.js';

const ok = async (): Promise<ReturnType<typeof json>> => json(200, {});

void t.test('the interface description', async (t) => {
  const described = {
    ...post('/v/{voice?}/x', ok),
    description: {
      summary: 'Speak',
      parameters: [{ name: 'model', in: 'header' as const, schema: { type: 'string' } }],
      requestBody: { 'application/json': { type: 'object' } },
      responses: {
        200: { description: 'audio', content: { 'audio/mpeg': {} } },
        204: { description: 'nothing' },
      },
    },
  };
  const document = describeInterface([dialect('main', ['/'], [described, get('/hidden', ok)])])(
    'https://here',
  );
  const headers = { 'X-Generation-Id': { $ref: '#/components/headers/X-Generation-Id' } };
  t.strictSame(document, {
    openapi: '3.1.0',
    info: { title: 'Speech gateway', version: '1' },
    servers: [{ url: 'https://here' }],
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      headers: {
        'X-Generation-Id': {
          description: 'Names the request; the log has it, too',
          schema: { type: 'string' },
        },
      },
    },
    paths: {
      '/v/{voice}/x': {
        post: {
          operationId: 'speak',
          summary: 'Speak',
          tags: ['main'],
          parameters: [
            { name: 'voice', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'model', in: 'header', schema: { type: 'string' } },
          ],
          requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
          responses: {
            200: { description: 'audio', headers, content: { 'audio/mpeg': { schema: {} } } },
            204: { description: 'nothing', headers },
          },
          security: [{ bearer: [] }],
        },
      },
    },
  });
});
