import { Field } from '../ui/controls/field.tsx';
import { readable, searchedLoss, shareOf } from './method.ts';

/** Field of the loss that the search may accept, in percent. */
export const LossField = ({
  loss,
  hasEvaluation,
  onLoss,
}: {
  loss: string;
  hasEvaluation: boolean;
  onLoss: (text: string) => void;
}) => (
  <Field
    label={readable(searchedLoss)}
    error={shareOf(loss) === undefined ? 'Enter a percentage above 0, such as 0.5.' : undefined}
    hint={
      hasEvaluation
        ? 'Of the accuracy on the evaluation set, or of agreement with the original if it has no labels. The smallest result within it is kept.'
        : 'Share of other answers than the original’s, or error of its outputs. Add an evaluation set with labels to bound the accuracy instead.'
    }
  >
    {(attributes) => (
      <span class="with-unit">
        <input
          {...attributes}
          inputMode="decimal"
          autoComplete="off"
          value={loss}
          onInput={({ currentTarget }) => onLoss(currentTarget.value)}
        />
        %
      </span>
    )}
  </Field>
);
