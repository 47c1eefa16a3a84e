/** The module, as whoever bundles it hands it out: its address, its bytes, or compiled. */
declare const module: any;
export default module;
