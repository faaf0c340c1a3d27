import { createLogger } from '../../shared/core/log.ts';
import { readSettings } from '../../shared/core/settings.ts';
import { lambda } from '../../shared/http/pipeline/lambda.ts';
import { endpoint } from './serve-models.endpoint.ts';
import { servingNeeds } from './serving-needs.ts';
import { warmAtStart } from './sessions.ts';

// AWS Lambda loads this module: it has time before the first request, and freezes the process after each answer.
export const handler = lambda(endpoint);

const settings = readSettings(process.env);
const platform = { environment: process.env, settings };
await warmAtStart({
  records: servingNeeds.records.open(platform),
  objects: servingNeeds.objects.open(platform),
  settings,
  log: createLogger(settings.logLevel, (line) => process.stdout.write(line)),
});
