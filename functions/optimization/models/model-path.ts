import * as z from 'zod';
import { modelName } from '../strategies/query-parameters.ts';

/** Path parameters of everything about one model. */
export const modelPath = z.strictObject({ model_name: modelName });
