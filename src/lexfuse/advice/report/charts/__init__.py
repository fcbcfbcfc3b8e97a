"""Charts as SVG text, made from plain values: no dependency, no script, the same bytes for the same data.

Colours, sizes and print rules live in chart.css, which a page embeds once and `standalone` puts into its own file. Every
chart is drawn about 360 units wide, so that its words stay readable on a telephone; wide screens set them side by side.
"""
