/** CI systems whose runs can have a trust. */
export const ciProviders = ['github', 'gitlab'] as const;
export type CiProvider = (typeof ciProviders)[number];

/** Issuers of the tokens of these systems, unless they run elsewhere. */
export const usualIssuers: Readonly<Record<CiProvider, string>> = {
  github: 'https://token.actions.githubusercontent.com',
  gitlab: 'https://gitlab.com',
};
