import * as z from 'zod';
import { goals, searchParameters } from './common-parameters.ts';

/**
 * Return the rules of `max_loss` and `goal`, which only `auto` accepts, and of `max_error`, which `auto` refuses.
 */
export function searchRules(isOpen: boolean, strategy: string, max_error: { description: string }) {
  const { max_loss, goal } = searchParameters;
  if (!isOpen) {
    return {
      max_loss: z.null(`is only for auto, not for ${strategy}`).default(null).describe(max_loss.description),
      goal: z
        .literal('size', `is only for auto, not for ${strategy}`)
        .default('size')
        .describe(goal.description),
    };
  }
  return {
    max_loss: z
      .number('must be a number')
      .positive('must be above 0')
      .default(0.01)
      .describe(max_loss.description),
    goal: z
      .enum(goals, `must be one of ${goals.join(', ')}`)
      .default('size')
      .describe(goal.description),
    max_error: z
      .null('must not be given with auto; use max_loss')
      .default(null)
      .describe(max_error.description),
  };
}
