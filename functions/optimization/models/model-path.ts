import * as z from 'zod';
import { FileId } from '../../../shared/core/formats.ts';

export const modelName = FileId.describe('Name of the model, such as `digits.onnx`.');

/** Path parameters of every operation on one model. */
export const modelPath = z.strictObject({ model_name: modelName });
