export interface Config {
  auth?: {
    providers?: {
      /**
       * The sign-in page offers the guest when the guest provider is enabled: in
       * development, or when `dangerouslyAllowOutsideDevelopment` is set.
       *
       * @visibility frontend
       */
      guest?: {
        /** @visibility frontend */
        userEntityRef?: string;
        /** @visibility frontend */
        dangerouslyAllowOutsideDevelopment?: boolean;
      };
    };
  };
}
