import { type Apply, looking } from './linearize.ts';

/** Variables of a project by name; the value of a secret is null. */
export type VariablesState = Readonly<Record<string, { value: string | null; secret: boolean }>>;

const check = looking<VariablesState>;

export const isAbsent = (name: string) => check((state) => state[name] === undefined);
export const isVariable = (name: string, value: string | null, secret: boolean) =>
  check((state) => state[name]?.value === value && state[name].secret === secret);
export const areVariables = (listed: readonly { name: string; value: string | null; secret: boolean }[]) =>
  check(
    (state) =>
      Object.keys(state).length === listed.length &&
      listed.every(
        ({ name, value, secret }) => state[name]?.value === value && state[name].secret === secret,
      ),
  );

export const variableSet =
  (name: string, value: string | null, secret: boolean): Apply<VariablesState> =>
  (state) => ({ ...state, [name]: { value, secret } });

export const variableDeleted =
  (name: string): Apply<VariablesState> =>
  (state) => {
    const { [name]: present, ...others } = state;
    return present === undefined ? undefined : others;
  };

export const allDeleted =
  (count: number): Apply<VariablesState> =>
  (state) =>
    Object.keys(state).length === count ? {} : undefined;
