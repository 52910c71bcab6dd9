export interface Config {
  directory?: {
    /** Mapping of portal users to directory users; the backend documents it. */
    portalUsers?: {
      /**
       * Namespace of the user and group entities.
       * @visibility frontend
       */
      namespace: string;
      /**
       * Source of the directory name: the name of the entity, or its annotation.
       * @visibility frontend
       */
      username: 'entityName' | 'annotation';
    };
    /**
     * Options of the directory pages.
     *
     * @example
     * ```yaml
     * directory:
     *   pages:
     *     editProfileUrl: https://accounts.example.org/user/{username}/settings/profile/
     * ```
     */
    pages?: {
      /**
       * URL (`https:` or `http:`) of the page on which users edit their own
       * profile. `{username}` is replaced by the user name. Default: no link.
       * @visibility frontend
       */
      editProfileUrl?: string;

      /**
       * Shortcut that opens the command palette: `Mod` (Cmd on Apple's systems,
       * Ctrl on others), `Ctrl`, `Alt` or `Meta`, optionally `Shift`, and a
       * letter or digit. Default: `Mod+K`.
       * @pattern ^(?:Shift\\+)?(?:Mod|Ctrl|Alt|Meta)\\+(?:(?:Mod|Ctrl|Alt|Meta|Shift)\\+)*[A-Za-z0-9]$
       * @visibility frontend
       */
      paletteShortcut?: string;
    };
  };
}
