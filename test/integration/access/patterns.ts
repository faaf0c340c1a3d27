/**
 * Who gets which status, one line a caller. With three columns they are for what is the caller's own, for what is
 * somebody else's, and for what does not exist; with one the operation is about nothing in particular. `ok` is the
 * operation's own success. A token that is sent must be good, unless the operation is the same for everybody.
 */
export const anyone = `
  none              ok
  malformed         ok
  expired           ok
  revoked           ok
  guest             ok
  viewer            ok
  developer         ok
  other developer   ok
  in a browser      ok
  member developer  ok
  member viewer     ok
  admin             ok
  deleted admin     ok`;

/** Anyone may, but who is known may more. */
export const anyoneKnown = `
  none              ok
  malformed         401
  expired           401
  revoked           401
  guest             ok
  viewer            ok
  developer         ok
  other developer   ok
  in a browser      ok
  member developer  ok
  member viewer     ok
  admin             ok
  deleted admin     401`;

export const signedIn = `
  none              401
  malformed         401
  expired           401
  revoked           401
  guest             ok
  viewer            ok
  developer         ok
  other developer   ok
  in a browser      ok
  member developer  ok
  member viewer     ok
  admin             ok
  deleted admin     401`;

/** What only a session has. */
export const inBrowser = `
  none              401
  malformed         401
  expired           401
  revoked           401
  guest             409
  viewer            409
  developer         409
  other developer   409
  in a browser      ok
  member developer  409
  member viewer     409
  admin             409
  deleted admin     401`;

export const viewers = `
  none              401
  malformed         401
  expired           401
  revoked           401
  guest             403
  viewer            ok
  developer         ok
  other developer   ok
  in a browser      ok
  member developer  ok
  member viewer     ok
  admin             ok
  deleted admin     401`;

export const developers = `
  none              401
  malformed         401
  expired           401
  revoked           401
  guest             403
  viewer            403
  developer         ok
  other developer   ok
  in a browser      ok
  member developer  ok
  member viewer     ok
  admin             ok
  deleted admin     401`;

export const admins = `
  none              401
  malformed         401
  expired           401
  revoked           401
  guest             403
  viewer            403
  developer         403
  other developer   403
  in a browser      403
  member developer  403
  member viewer     403
  admin             ok
  deleted admin     401`;

/** Who asks for more than open registration gives is told so at once: to sign in would not help. */
export const adminsAmongAnyone = `
  none              403
  malformed         401
  expired           401
  revoked           401
  guest             403
  viewer            403
  developer         403
  other developer   403
  in a browser      403
  member developer  403
  member viewer     403
  admin             ok
  deleted admin     401`;

//                  own other's missing
export const adminsAboutUser = `
  none              401 401 401
  malformed         401 401 401
  expired           401 401 401
  revoked           401 401 401
  guest             403 403 403
  viewer            403 403 403
  developer         403 403 403
  other developer   403 403 403
  in a browser      403 403 403
  member developer  403 403 403
  member viewer     403 403 403
  admin             ok  ok  ok
  deleted admin     401 401 401`;

export const anyoneAboutUser = `
  none              ok  ok  ok
  malformed         401 401 401
  expired           401 401 401
  revoked           401 401 401
  guest             ok  ok  ok
  viewer            ok  ok  ok
  developer         ok  ok  ok
  other developer   ok  ok  ok
  in a browser      ok  ok  ok
  member developer  ok  ok  ok
  member viewer     ok  ok  ok
  admin             ok  ok  ok
  deleted admin     401 401 401`;

/** Who knows a user's password may sign in as them, whoever they are otherwise. */
export const signIn = `
  none              ok  ok  401
  malformed         ok  ok  401
  expired           ok  ok  401
  revoked           ok  ok  401
  guest             ok  ok  401
  viewer            ok  ok  401
  developer         ok  ok  401
  other developer   ok  ok  401
  in a browser      ok  ok  401
  member developer  ok  ok  401
  member viewer     ok  ok  401
  admin             ok  ok  401
  deleted admin     401 ok  401`;

export const viewerRead = `
  none              401 401 401
  malformed         401 401 401
  expired           401 401 401
  revoked           401 401 401
  guest             403 403 403
  viewer            ok  ok  404
  developer         ok  ok  404
  other developer   ok  ok  404
  in a browser      ok  ok  404
  member developer  ok  ok  404
  member viewer     ok  ok  404
  admin             ok  ok  404
  deleted admin     401 401 401`;

/** A guest or viewer may still own what they made before their type was changed. */
export const ownerChange = `
  none              401 401 401
  malformed         401 401 401
  expired           401 401 401
  revoked           401 401 401
  guest             403 403 403
  viewer            403 403 403
  developer         ok  403 404
  other developer   ok  403 404
  in a browser      ok  403 404
  member developer  ok  403 404
  member viewer     ok  403 404
  admin             ok  ok  404
  deleted admin     401 401 401`;

/** What those may do, too, with whom a project is shared as developers. */
export const memberChange = `
  none              401 401 401
  malformed         401 401 401
  expired           401 401 401
  revoked           401 401 401
  guest             403 403 403
  viewer            403 403 403
  developer         ok  403 404
  other developer   ok  403 404
  in a browser      ok  403 404
  member developer  ok  ok  404
  member viewer     ok  403 404
  admin             ok  ok  404
  deleted admin     401 401 401`;

/** What is there already only its owner and admins may change; what is not, every developer may make. */
export const ownerOrNew = `
  none              401 401 401
  malformed         401 401 401
  expired           401 401 401
  revoked           401 401 401
  guest             403 403 403
  viewer            403 403 403
  developer         ok  403 ok
  other developer   ok  403 ok
  in a browser      ok  403 ok
  member developer  ok  403 ok
  member viewer     ok  403 ok
  admin             ok  ok  ok
  deleted admin     401 401 401`;

export const adminOnly = `
  none              401 401 401
  malformed         401 401 401
  expired           401 401 401
  revoked           401 401 401
  guest             403 403 403
  viewer            403 403 403
  developer         403 403 403
  other developer   403 403 403
  in a browser      403 403 403
  member developer  403 403 403
  member viewer     403 403 403
  admin             ok  ok  404
  deleted admin     401 401 401`;

/** Who may not see others is not told either whether there are such. */
export const accountRead = `
  none              401 401 401
  malformed         401 401 401
  expired           401 401 401
  revoked           401 401 401
  guest             ok  403 403
  viewer            ok  ok  404
  developer         ok  ok  404
  other developer   ok  ok  404
  in a browser      ok  ok  404
  member developer  ok  ok  404
  member viewer     ok  ok  404
  admin             ok  ok  404
  deleted admin     401 401 401`;

export const selfOrAdmin = `
  none              401 401 401
  malformed         401 401 401
  expired           401 401 401
  revoked           401 401 401
  guest             ok  403 403
  viewer            ok  403 403
  developer         ok  403 403
  other developer   ok  403 403
  in a browser      ok  403 403
  member developer  ok  403 403
  member viewer     ok  403 403
  admin             ok  ok  404
  deleted admin     401 401 401`;

/** What is only ever looked for among one's own. */
export const selfOnly = `
  none              401 401 401
  malformed         401 401 401
  expired           401 401 401
  revoked           401 401 401
  guest             ok  404 404
  viewer            ok  404 404
  developer         ok  404 404
  other developer   ok  404 404
  in a browser      ok  404 404
  member developer  ok  404 404
  member viewer     ok  404 404
  admin             ok  404 404
  deleted admin     401 401 401`;
